-- Changes of many users. A row of "BulkJobUser" is deleted in the transaction that changes its user, so that each user is
-- changed once, whichever process ends when.
CREATE TABLE "BulkJob" (
    "tenantId" TEXT COLLATE "C" NOT NULL,
    "id" TEXT COLLATE "C" NOT NULL,
    "action" TEXT COLLATE "C" NOT NULL,
    "roles" TEXT[] COLLATE "C" DEFAULT ARRAY[]::TEXT[],
    "clientId" TEXT COLLATE "C",
    "filter" JSONB,
    "position" TEXT COLLATE "C",
    "caller" JSONB NOT NULL,
    "status" TEXT COLLATE "C" NOT NULL,
    "total" INTEGER NOT NULL,
    "done" INTEGER NOT NULL DEFAULT 0,
    "failed" INTEGER NOT NULL DEFAULT 0,
    "problem" TEXT COLLATE "C",
    "finishedAt" TIMESTAMPTZ(3),
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "BulkJob_pkey" PRIMARY KEY ("tenantId","id"),
    CONSTRAINT "BulkJob_tenantId_fkey" FOREIGN KEY ("tenantId") REFERENCES "Tenant"("tenantId") ON DELETE CASCADE ON UPDATE RESTRICT
);
CREATE INDEX "BulkJob_createdAt_idx" ON "BulkJob"("createdAt");
CREATE INDEX "BulkJob_status_idx" ON "BulkJob"("status") WHERE ("finishedAt" IS NULL);
CREATE TRIGGER "BulkJob_tenant" BEFORE UPDATE OF "tenantId" ON "BulkJob" FOR EACH ROW EXECUTE FUNCTION refuse_tenant_change();

CREATE TABLE "BulkJobUser" (
    "tenantId" TEXT COLLATE "C" NOT NULL,
    "jobId" TEXT COLLATE "C" NOT NULL,
    "userId" TEXT COLLATE "C" NOT NULL,
    "code" TEXT COLLATE "C",
    "message" TEXT COLLATE "C",

    CONSTRAINT "BulkJobUser_pkey" PRIMARY KEY ("tenantId","jobId","userId"),
    CONSTRAINT "BulkJobUser_tenantId_jobId_fkey" FOREIGN KEY ("tenantId", "jobId") REFERENCES "BulkJob"("tenantId", "id") ON DELETE CASCADE ON UPDATE RESTRICT
);
CREATE INDEX "BulkJobUser_waiting_idx" ON "BulkJobUser"("tenantId", "jobId", "userId") WHERE ("code" IS NULL);
CREATE TRIGGER "BulkJobUser_tenant" BEFORE UPDATE OF "tenantId" ON "BulkJobUser" FOR EACH ROW EXECUTE FUNCTION refuse_tenant_change();
