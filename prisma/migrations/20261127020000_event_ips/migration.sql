-- Events of an IP address or of a network. The cleanup removes addresses after 30 days, so that the index has those of the
-- last 30 days only.
CREATE INDEX "Event_ip_idx" ON "Event"("tenantId", ("ip"::inet), "era", "xid", "seq") WHERE "ip" IS NOT NULL;

-- A partial index has no statistics that the planner uses. Without these it would not know how many events a network has.
CREATE STATISTICS "Event_ip_stats" ON ("ip"::inet) FROM "Event";
