-- AlterTable
ALTER TABLE "Credential" ADD COLUMN     "backedUp" BOOLEAN,
ADD COLUMN     "backupEligible" BOOLEAN;
