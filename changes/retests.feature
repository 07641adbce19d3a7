Servers can be re-tested on request: `hallmark retest` asks again what cost points, in at most 30 requests, and shows before and after.
