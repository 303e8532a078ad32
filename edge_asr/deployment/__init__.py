"""Getting edge-asr onto boards: wheels for another machine, bundles without a network, the unit of the service."""
