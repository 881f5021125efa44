-- Most sessions have none of these values. A partial index is not written for them, and can't be scanned by tenant alone.
DROP INDEX "Session_tenantId_parentId_idx";
DROP INDEX "Session_tenantId_grantId_idx";
DROP INDEX "Session_tenantId_previousTokenHash_idx";

CREATE INDEX "Session_tenantId_parentId_idx" ON "Session"("tenantId", "parentId") WHERE "parentId" IS NOT NULL;
CREATE INDEX "Session_tenantId_grantId_idx" ON "Session"("tenantId", "grantId") WHERE "grantId" IS NOT NULL;
CREATE INDEX "Session_tenantId_previousTokenHash_idx" ON "Session"("tenantId", "previousTokenHash") WHERE "previousTokenHash" IS NOT NULL;
