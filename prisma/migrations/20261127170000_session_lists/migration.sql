-- Lists and counts of active sessions read "expiresAt" in the index. It changes in the statements that change "lastSeenAt", and has an
-- index of its own, so that no update writes more indexes than before.
DROP INDEX "Session_active_lastSeenAt_idx";
CREATE INDEX "Session_active_lastSeenAt_idx" ON "Session"("tenantId", "lastSeenAt", "id", "expiresAt") WHERE ("endedAt" IS NULL);
DROP INDEX "Session_active_createdAt_idx";
CREATE INDEX "Session_active_createdAt_idx" ON "Session"("tenantId", "createdAt", "id", "expiresAt") WHERE ("endedAt" IS NULL);
