-- AlterTable
ALTER TABLE "Tenant" ADD COLUMN     "offerPasskey" BOOLEAN NOT NULL DEFAULT true;

-- AlterTable
ALTER TABLE "User" ADD COLUMN     "passkeyOfferedAt" TIMESTAMPTZ(3);
