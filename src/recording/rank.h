#pragma once

// Which of the processes of an MPI program this one was started for, by what its launcher says in
// the environment: PMIX_RANK (Open MPI 4 and later, PRRTE), OMPI_COMM_WORLD_RANK, PMI_RANK (MPICH,
// Intel MPI), SLURM_PROCID (srun). Nothing else of MPI is known here.

#include <optional>
#include <string>

namespace culprit {

struct Rank {
  std::string number;    // "3"
  std::string variable;  // that says so
};

/// none: this is no process of an MPI program, or of one that has but this one
std::optional<Rank> find_rank();

/// A file of each rank's own: "out.culprit" -> "out.rank3.culprit".
std::string name_of_rank(const std::string& path, const Rank& rank);

}  // namespace culprit
