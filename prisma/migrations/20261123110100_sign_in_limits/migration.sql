-- AlterTable
ALTER TABLE "Tenant" ADD COLUMN     "networkCodeLimit" INTEGER NOT NULL DEFAULT 600,
ADD COLUMN     "networkFailureLimit" INTEGER NOT NULL DEFAULT 100;
