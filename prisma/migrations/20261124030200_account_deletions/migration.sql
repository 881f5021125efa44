ALTER TABLE "Tenant" ADD COLUMN "accountDeletionDays" INTEGER NOT NULL DEFAULT 0;

CREATE TABLE "AccountDeletion" (
    "tenantId" TEXT COLLATE "C" NOT NULL,
    "userId" TEXT COLLATE "C" NOT NULL,
    "requestedAt" TIMESTAMPTZ(3) NOT NULL,
    "dueAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "AccountDeletion_pkey" PRIMARY KEY ("tenantId","userId")
);

CREATE INDEX "AccountDeletion_dueAt_idx" ON "AccountDeletion"("dueAt");

ALTER TABLE "AccountDeletion" ADD CONSTRAINT "AccountDeletion_tenantId_userId_fkey" FOREIGN KEY ("tenantId", "userId") REFERENCES "User"("tenantId", "id") ON DELETE CASCADE ON UPDATE RESTRICT;

CREATE TRIGGER "AccountDeletion_tenant" BEFORE UPDATE OF "tenantId" ON "AccountDeletion" FOR EACH ROW EXECUTE FUNCTION refuse_tenant_change();
