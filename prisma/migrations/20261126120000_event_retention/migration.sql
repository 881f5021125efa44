-- AlterTable
ALTER TABLE "Tenant" ADD COLUMN     "eventRetentionDays" INTEGER NOT NULL DEFAULT 90;
