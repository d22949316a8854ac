// Structs whose members are accessed a known number of times: an array of 1,000 (y and id twice
// each, the two of `at` once at a time), a list of 20,000 that is walked ten times, and a struct
// that is mostly one array of 300, each stored and loaded once. tests/objects_test.py.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct point {
  double x, y;
};
struct body {
  char tag;
  struct point at;
  int id;
  double speed[3];
  struct body* next;
};
static struct body bodies[1000];
static struct {
  int rounds;
  double parts[300];
  long total;
} state;
struct node {
  long key;
  struct node* next;
  char name[40];
};
struct node* make_node(long key) {
  struct node* n = malloc(sizeof *n);
  n->key = key;
  n->next = NULL;
  memset(n->name, 0, sizeof n->name);
  return n;
}
__attribute__((noinline)) double sum_y(void) {
  double s = 0;
  for (int i = 0; i < 1000; ++i) s += bodies[i].at.y;
  return s;
}
__attribute__((noinline)) long sum_ids(void) {
  long s = 0;
  for (int i = 0; i < 1000; ++i) s += bodies[i].id;
  return s;
}
typedef double pair __attribute__((vector_size(16), aligned(8), may_alias));
__attribute__((noinline)) double sum_points(void) {
  pair s = {0, 0};
  for (int i = 0; i < 1000; ++i) s += *(const pair*)&bodies[i].at;
  return s[0] + s[1];
}
__attribute__((noinline)) long walk(const struct node* n) {
  long s = 0;
  for (; n; n = n->next) s += n->key;
  return s;
}
__attribute__((noinline)) void set_parts(void) {
  for (int i = 0; i < 300; ++i) state.parts[i] = i;
}
__attribute__((noinline)) double sum_parts(void) {
  double s = 0;
  for (int i = 0; i < 300; ++i) s += state.parts[i];
  return s;
}
int main(void) {
  set_parts();
  for (int i = 0; i < 1000; ++i) {
    bodies[i].id = i;
    bodies[i].at.y = i;
  }
  struct node* head = NULL;
  for (int i = 0; i < 20000; ++i) {
    struct node* n = make_node(i);
    n->next = head;
    head = n;
  }
  long keys = 0;
  for (int r = 0; r < 10; ++r) keys += walk(head);
  printf("%f %f %f %ld %ld\n", sum_parts(), sum_y(), sum_points(), sum_ids(), keys);
}
