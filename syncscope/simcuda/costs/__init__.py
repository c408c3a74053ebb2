"""The cost table: what an ATen call copies between host and device, and whether the host waits."""
