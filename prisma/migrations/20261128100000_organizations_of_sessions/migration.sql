-- The organizations that a session received tokens for.
CREATE TABLE "SessionOrganization" (
    "tenantId" TEXT COLLATE "C" NOT NULL,
    "organizationId" TEXT COLLATE "C" NOT NULL,
    "sessionId" TEXT COLLATE "C" NOT NULL,

    CONSTRAINT "SessionOrganization_pkey" PRIMARY KEY ("tenantId","organizationId","sessionId"),
    CONSTRAINT "SessionOrganization_tenantId_sessionId_fkey" FOREIGN KEY ("tenantId", "sessionId") REFERENCES "Session"("tenantId", "id") ON DELETE CASCADE ON UPDATE RESTRICT
);
CREATE INDEX "SessionOrganization_tenantId_sessionId_idx" ON "SessionOrganization"("tenantId", "sessionId");
CREATE TRIGGER "SessionOrganization_tenant" BEFORE UPDATE OF "tenantId" ON "SessionOrganization" FOR EACH ROW EXECUTE FUNCTION refuse_tenant_change();

INSERT INTO "SessionOrganization" ("tenantId", "organizationId", "sessionId")
SELECT DISTINCT g."tenantId", g."organizationId", s."id" FROM "Grant" g
JOIN "Session" s ON s."tenantId" = g."tenantId" AND s."id" = g."sessionId" AND s."endedAt" IS NULL
WHERE g."organizationId" IS NOT NULL;
