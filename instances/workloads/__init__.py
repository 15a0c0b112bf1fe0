"""Generators of instances, one file per problem, reproducible from a seed."""
