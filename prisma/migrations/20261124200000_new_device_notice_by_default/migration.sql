-- AlterTable
-- Tenants that exist keep their value.
ALTER TABLE "Tenant" ALTER COLUMN "newDeviceNotice" SET DEFAULT true;
