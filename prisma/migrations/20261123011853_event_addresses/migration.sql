-- AlterTable
ALTER TABLE "Event" ADD COLUMN     "addressHash" BYTEA;

-- CreateIndex
CREATE INDEX "Event_tenantId_addressHash_era_xid_seq_idx" ON "Event"("tenantId", "addressHash", "era", "xid", "seq") WHERE ("addressHash" IS NOT NULL);
