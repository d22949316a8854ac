#pragma once

// One function per command: runs it and returns the exit status (0 done, 1 the
// world is wrong, 2 wrong usage; record and stat: the program's own, 125 to 127 for ours).

#include "cli/command_line.h"

namespace culprit {

int run_record(const RecordCommand& command);
int run_stat(const StatCommand& command);
int run_report(const ReportCommand& command);
int run_annotate(const AnnotateCommand& command);
int run_why(const WhyCommand& command);
int run_export(const ExportCommand& command);
int run_import(ImportCommand command);
int run_symbolize(const SymbolizeCommand& command);
int run_doctor(const DoctorCommand& command);
int run_events(const EventsCommand& command);
int run_templates(const TemplatesCommand& command);

}  // namespace culprit
