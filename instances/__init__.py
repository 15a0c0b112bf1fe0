"""WHERE instances come from: files, workloads, shipped examples."""
