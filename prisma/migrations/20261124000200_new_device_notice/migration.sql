-- AlterTable
ALTER TABLE "Tenant" ADD COLUMN     "newDeviceNotice" BOOLEAN NOT NULL DEFAULT false;
