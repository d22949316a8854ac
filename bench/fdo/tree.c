/* A map of integers as a treap: found far more often than changed; most keys are there. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct node {
  uint64_t key, priority, value;
  struct node *left, *right;
} node;

static node pool[1 << 14];
static size_t used;
static uint64_t missed;

static uint64_t state = 7;
static uint64_t next_random(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

static node* make_node(uint64_t key) {
  if (used == sizeof pool / sizeof *pool) {
    fprintf(stderr, "full\n");
    exit(1);
  }
  node* made = &pool[used++];
  *made = (node){key, next_random(), key * 3, NULL, NULL};
  return made;
}

static node* rotate_right(node* top) {
  node* left = top->left;
  top->left = left->right;
  left->right = top;
  return left;
}

static node* rotate_left(node* top) {
  node* right = top->right;
  top->right = right->left;
  right->left = top;
  return right;
}

static node* insert(node* top, uint64_t key) {
  if (!top) return make_node(key);
  if (key < top->key) {
    top->left = insert(top->left, key);
    if (top->left->priority > top->priority) top = rotate_right(top);
  } else if (key > top->key) {
    top->right = insert(top->right, key);
    if (top->right->priority > top->priority) top = rotate_left(top);
  } else {
    ++top->value;
  }
  return top;
}

static uint64_t checked(const node* at, uint64_t key) {
  if (at->key != key) {
    fprintf(stderr, "wrong key\n");
    exit(1);
  }
  if (at->value == 0) return missed++;
  return at->value;
}

static uint64_t find(const node* top, uint64_t key) {
  while (top) {
    if (key == top->key) return checked(top, key);
    if (key < top->key) {
      top = top->left;
    } else {
      top = top->right;
    }
  }
  ++missed;
  return 0;
}

static uint64_t summarize(uint64_t value, uint64_t sum) {
  if (value > UINT64_MAX / 2) return sum ^ 1;
  if (value % 4096 == 4095) return sum * 5 + value;
  return sum + value;
}

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 100;
  node* root = NULL;
  for (int i = 0; i < 2000; ++i) root = insert(root, next_random() % 4096);
  uint64_t sum = 0;
  for (int round = 0; round < rounds; ++round) {
    for (uint64_t i = 0; i < 2000; ++i) {
      /* Few keys are asked for again and again, as caches of names are. */
      const uint64_t key =
          i % 16 ? (i * 7 + 3) % 32 * 97 % 4096 : (i * 31 + (uint64_t)round) % 4096;
      sum = summarize(find(root, key), sum);
    }
    if (round % 64 == 0) root = insert(root, next_random() % 4096);
  }
  printf("%llu %llu\n", (unsigned long long)sum, (unsigned long long)missed);
  return 0;
}
