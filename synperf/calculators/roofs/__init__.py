"""Points under the roofs of a GPU, why they stand where they do, and what would move them."""
