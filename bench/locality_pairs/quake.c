// pair: quake
// advice: split_layout|pool_blocks
// repair: the vectors of three are one block for all nodes; the passes over them are one
// options: --objects site
//
// What 183.equake does (papers/source-interdependence-sip, section 4): a sparse symmetric matrix of
// 3 x 3 blocks times displacements, in time steps over three displacement vectors, and passes over
// the nodes. Each node's vector of three doubles is allocated alone, which leaves gaps between
// them; half of a node's neighbours have numbers far from its own. QUAKE_POOL repairs the layout
// only, QUAKE_FUSE the passes only, AFTER both.
#include <stdio.h>
#include <stdlib.h>

#ifdef AFTER
#define QUAKE_POOL
#define QUAKE_FUSE
#endif

enum { kNodes = 40000, kNeighbours = 4, kSteps = 4 };

static double ***disp, **M, **C, **V;
static double (*K)[3][3];
static int (*column)[kNeighbours];

static double** make_vectors(void) {
  double** rows = malloc(kNodes * sizeof *rows);
#ifdef QUAKE_POOL
  double* all = malloc(kNodes * 3 * sizeof *all);
  for (int i = 0; i < kNodes; ++i) rows[i] = all + 3 * i;
#else
  for (int i = 0; i < kNodes; ++i) rows[i] = malloc(3 * sizeof **rows);  // allocated
#endif
  for (int i = 0; i < kNodes; ++i)
    for (int d = 0; d < 3; ++d) rows[i][d] = 1e-3 * ((i + d) % 11);
  return rows;
}

static void make_mesh(void) {
  M = make_vectors(), C = make_vectors(), V = make_vectors();
  disp = malloc(3 * sizeof *disp);
  for (int t = 0; t < 3; ++t) disp[t] = make_vectors();
  K = malloc(sizeof *K * kNodes * kNeighbours);
  column = malloc(sizeof *column * kNodes);
  for (int i = 0; i < kNodes; ++i)
    for (int n = 0; n < kNeighbours; ++n) {
      column[i][n] = n < 2 ? (i + 1 + n) % kNodes : (int)((i * 7919L + n * 104729L) % kNodes);
      for (int d = 0; d < 9; ++d) K[i * kNeighbours + n][d / 3][d % 3] = 1e-4 * ((i + n + d) % 5);
    }
}

static __attribute__((noinline)) void smvp(double** v, double** w) {
  for (int i = 0; i < kNodes; ++i)
    for (int n = 0; n < kNeighbours; ++n) {
      const int j = column[i][n];
      const double(*a)[3] = K[i * kNeighbours + n];
      for (int d = 0; d < 3; ++d) {
        w[i][d] += a[d][0] * v[j][0] + a[d][1] * v[j][1] + a[d][2] * v[j][2];  // here
        w[j][d] += a[0][d] * v[i][0] + a[1][d] * v[i][1] + a[2][d] * v[i][2];  // here
      }
    }
}

static __attribute__((noinline)) void advance(double** now, double** before, double** next) {
#ifdef QUAKE_FUSE
  for (int i = 0; i < kNodes; ++i)
    for (int d = 0; d < 3; ++d) {
      next[i][d] *= -1e-2;
      next[i][d] += 2 * M[i][d] * now[i][d] - (M[i][d] - C[i][d] * 0.5) * before[i][d];
      next[i][d] /= 1 + M[i][d] + C[i][d] * 0.5;
      V[i][d] = 0.5 * (next[i][d] - before[i][d]);
    }
#else
  for (int i = 0; i < kNodes; ++i)
    for (int d = 0; d < 3; ++d) next[i][d] *= -1e-2;  // here
  for (int i = 0; i < kNodes; ++i)
    for (int d = 0; d < 3; ++d)
      next[i][d] += 2 * M[i][d] * now[i][d] - (M[i][d] - C[i][d] * 0.5) * before[i][d];  // here
  for (int i = 0; i < kNodes; ++i)
    for (int d = 0; d < 3; ++d) next[i][d] /= 1 + M[i][d] + C[i][d] * 0.5;  // here
  for (int i = 0; i < kNodes; ++i)
    for (int d = 0; d < 3; ++d) V[i][d] = 0.5 * (next[i][d] - before[i][d]);  // here
#endif
}

int main(int argc, char** argv) {
  const int repeats = argc > 1 ? atoi(argv[1]) : 1;
  make_mesh();
  int before = 0, now = 1, next = 2;
  for (int step = 0; step < kSteps * repeats; ++step) {
    for (int i = 0; i < kNodes; ++i)
      for (int d = 0; d < 3; ++d) disp[next][i][d] = 0;
    smvp(disp[now], disp[next]);
    advance(disp[now], disp[before], disp[next]);
    const int last = before;
    before = now, now = next, next = last;
  }
  printf("%.9f %.9f\n", disp[now][7][1], V[kNodes - 1][2]);
}
