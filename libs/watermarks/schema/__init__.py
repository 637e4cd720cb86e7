"""Contracts for the columns of a source or a target: evolve, freeze, discard or rescue.

from watermarks.schema import Contract

contract = Contract("id BIGINT, amount DECIMAL(10,2)", columns="rescue", types="rescue")
rows = contract.apply(frame)
"""

from .changes import SchemaChange
from .contract import Contract

__all__ = ["Contract", "SchemaChange"]
