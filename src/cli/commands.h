#pragma once

// One overload per command: runs it and returns the exit status (0 done, 1 the
// world is wrong, 2 wrong usage; record and stat: the program's own, 125 to 127 for ours).

#include "cli/options/command_line.h"

namespace culprit {

int run(const RecordCommand& command);
int run(const StatCommand& command);
int run(const ReportCommand& command);
int run(const AnnotateCommand& command);
int run(const WhyCommand& command);
int run(const LocalityCommand& command);
int run(const ExportCommand& command);
int run(const ImportCommand& command);
int run(const SymbolizeCommand& command);
int run(const DoctorCommand& command);
int run(const CalibrateCommand& command);
int run(const EventsCommand& command);
int run(const TemplatesCommand& command);
int run(const ScanCommand& command);
int run(const Usage& usage);

}  // namespace culprit
