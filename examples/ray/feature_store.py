"""A PyG FeatureStore whose features of graph nodes are in tables of Ray actors (ShardedTable)."""

import numpy as np
import ray
import torch
from torch_geometric.data import FeatureStore

import libgather.ray


class ShardedFeatures(FeatureStore):
    """A feature store with one table for each group of nodes and attribute name."""

    def __init__(self, shards):
        super().__init__()
        self.shards, self.tables = shards, {}

    def key(self, attribute):
        return attribute.group_name, attribute.attr_name

    def _put_tensor(self, tensor, attribute):
        rows = np.asarray(tensor)
        if attribute.index is not None and self.key(attribute) in self.tables:
            self.tables[self.key(attribute)].update(np.asarray(attribute.index), rows)
            return True
        self._remove_tensor(attribute)
        self.tables[self.key(attribute)] = libgather.ray.ShardedTable.from_array(
            rows, shards=self.shards, writable=True
        )
        return True

    def _get_tensor(self, attribute):
        table = self.tables.get(self.key(attribute))
        if table is None:
            return None
        index = attribute.index
        if index is None or isinstance(index, slice):
            index = np.arange(len(table))[slice(None) if index is None else index]
        return torch.from_numpy(table.gather(np.asarray(index)))

    def _remove_tensor(self, attribute):
        table = self.tables.pop(self.key(attribute), None)
        if table is not None:
            table.close()
        return table is not None

    def _get_tensor_size(self, attribute):
        return self.tables[self.key(attribute)].shape

    def get_all_tensor_attrs(self):
        return [self._tensor_attr_cls(group, name) for group, name in self.tables]


if __name__ == "__main__":
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    store = ShardedFeatures(shards=2)
    store["paper", "x", None] = torch.arange(12, dtype=torch.float32).reshape(6, 2)
    print(store["paper", "x", torch.tensor([5, 0, 5])].tolist())
    store["paper", "x", torch.tensor([0])] = torch.tensor([[7.0, 8.0]])
    print(store["paper", "x", slice(0, 2)].tolist(), store.get_tensor_size(group_name="paper", attr_name="x"))
