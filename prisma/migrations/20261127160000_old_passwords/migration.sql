ALTER TABLE "Tenant" ADD COLUMN "migrationEndsAt" TIMESTAMPTZ(3);

CREATE TABLE "OldPassword" (
    "tenantId" TEXT COLLATE "C" NOT NULL,
    "userId" TEXT COLLATE "C" NOT NULL,
    "hash" TEXT COLLATE "C",
    "place" INTEGER NOT NULL,
    "usedAt" TIMESTAMPTZ(3),

    CONSTRAINT "OldPassword_pkey" PRIMARY KEY ("tenantId","userId")
);
CREATE INDEX "OldPassword_place_idx" ON "OldPassword"("tenantId", "place") WHERE ("hash" IS NOT NULL);
ALTER TABLE "OldPassword" ADD CONSTRAINT "OldPassword_tenantId_userId_fkey" FOREIGN KEY ("tenantId", "userId") REFERENCES "User"("tenantId", "id") ON DELETE CASCADE ON UPDATE RESTRICT;
CREATE TRIGGER "OldPassword_tenant" BEFORE UPDATE OF "tenantId" ON "OldPassword" FOR EACH ROW EXECUTE FUNCTION refuse_tenant_change();
