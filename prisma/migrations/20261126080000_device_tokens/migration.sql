-- AlterTable
ALTER TABLE "Event" ADD COLUMN     "deviceId" TEXT COLLATE "C";

-- AlterTable
ALTER TABLE "Session" ADD COLUMN     "deviceId" TEXT COLLATE "C";

-- CreateTable
CREATE TABLE "KnownDevice" (
    "tenantId" TEXT COLLATE "C" NOT NULL,
    "address" TEXT COLLATE "C" NOT NULL,
    "deviceId" TEXT COLLATE "C" NOT NULL,
    "userId" TEXT COLLATE "C" NOT NULL,
    "provenAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "KnownDevice_pkey" PRIMARY KEY ("tenantId","address","deviceId")
);

-- CreateIndex
CREATE INDEX "KnownDevice_tenantId_userId_idx" ON "KnownDevice"("tenantId", "userId");

-- CreateIndex
CREATE INDEX "KnownDevice_provenAt_idx" ON "KnownDevice"("provenAt");

-- CreateIndex
CREATE INDEX "Event_tenantId_deviceId_era_xid_seq_idx" ON "Event"("tenantId", "deviceId", "era", "xid", "seq") WHERE ("deviceId" IS NOT NULL);

-- AddForeignKey
ALTER TABLE "KnownDevice" ADD CONSTRAINT "KnownDevice_tenantId_userId_fkey" FOREIGN KEY ("tenantId", "userId") REFERENCES "User"("tenantId", "id") ON DELETE CASCADE ON UPDATE RESTRICT;

CREATE TRIGGER "KnownDevice_tenant" BEFORE UPDATE OF "tenantId" ON "KnownDevice" FOR EACH ROW EXECUTE FUNCTION refuse_tenant_change();
