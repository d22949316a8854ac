#pragma once

// How to ask for a function on the command line: a word for the shell that
// `culprit annotate` finds it by.

#include <string>

#include "report/report.h"

namespace culprit {

/// `name` as it is if it has room, else the shortest pattern that fits it and no other
/// function of the table: "'*::_Hashtable<*>::_M_find_before_node'". The name itself,
/// however long, where no pattern does.
std::string make_annotate_word(const ReportTable& table, const std::string& name, size_t room);

}  // namespace culprit
