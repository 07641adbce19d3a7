"""What an operator has to do about a problem of nightly runs, for the status and the logs."""

from __future__ import annotations

from typing import Final

DATABASE_ACTION: Final = "start PostgreSQL, and check HALLMARK_DATABASE_URL, the network and the disk of the database"
BROKER_ACTION: Final = "start Redis, empty if need be, and check HALLMARK_REDIS_URL"
NO_RUN_ACTION: Final = "start beat, and a worker of the queue `probe` with the same version and settings as beat"
OTHER_VERSION_ACTION: Final = (
    "start workers of the version that planned the run, with the same settings, or end it with `hallmark night cancel`"
)
STANDSTILL_ACTION: Final = (
    "read the log of the workers and restart them; other workers get their servers when the leases end"
)
OVERLAP_ACTION: Final = "end one of them with `hallmark night cancel RUN`, or let both finish"
REGISTRY_ACTION: Final = (
    "check its address and the network; it is asked again every HALLMARK_PLAN_EVERY until the run is planned"
)
NEXT_REGISTRY_ACTION: Final = (
    "check its address and the network before the next run; this run goes on with the servers known from earlier ones"
)
NOT_ASKED_ACTION: Final = (
    "they are asked in the next run, in another order; agree with the owner before you raise "
    "HALLMARK_DOMAIN_REQUESTS or another bound on requests"
)
