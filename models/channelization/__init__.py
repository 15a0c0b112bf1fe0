"""Channelization: flows into few multicast groups, users subscribe to groups, unwanted traffic is paid for."""
