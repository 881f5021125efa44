-- A lookup by user and client finds one row by this index, too: without statistics, the planner may prefer it to the key.
CREATE INDEX "Consent_tenantId_clientId_userId_idx" ON "Consent"("tenantId", "clientId", "userId");

-- DropIndex
DROP INDEX "Consent_tenantId_clientId_idx";
