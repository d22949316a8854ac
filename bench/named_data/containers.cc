// bench/named_objects.py: containers in containers, of which each has its own maker.
#include <cstdio>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

struct Order {
  long number = 0;
  std::string buyer;
  std::vector<double> prices;
};
using Orders = std::map<std::string, std::vector<Order>>;

static unsigned random_below(unsigned below) {
  static unsigned state = 1;
  state = state * 1664525 + 1013904223;
  return (state >> 8) % below;
}

static void add_order(Orders& orders, long number) {
  Order order;
  order.number = number;
  order.buyer = "a buyer whose name is long " + std::to_string(random_below(500));
  for (unsigned i = 0; i < 1 + random_below(8); ++i) order.prices.push_back(random_below(1000));
  orders["a region " + std::to_string(random_below(2000))].push_back(std::move(order));
}

static std::unordered_map<std::string, double> sum_by_buyer(const Orders& orders) {
  std::unordered_map<std::string, double> sums;
  for (const auto& [region, all] : orders) {
    for (const Order& order : all) {
      for (const double price : order.prices) sums[order.buyer] += price;
    }
  }
  return sums;
}

struct Tree {
  std::unique_ptr<Tree> left, right;
  unsigned key = 0;
};
static void insert(std::unique_ptr<Tree>& tree, unsigned key) {
  if (!tree) {
    tree = std::make_unique<Tree>();
    tree->key = key;
  } else if (key != tree->key) {
    insert(key < tree->key ? tree->left : tree->right, key);
  }
}

int main() {
  Orders orders;
  for (long i = 0; i < 20000; ++i) add_order(orders, i);
  std::unique_ptr<Tree> tree;
  for (int i = 0; i < 20000; ++i) insert(tree, random_below(1000000));
  std::list<std::shared_ptr<std::vector<int>>> rows;
  for (int i = 0; i < 3000; ++i) rows.push_back(std::make_shared<std::vector<int>>(40, i));
  double sum = 0;
  for (const auto& [buyer, value] : sum_by_buyer(orders)) sum += value;
  for (const auto& row : rows) sum += (*row)[7];
  std::printf("%f\n", sum);
}
