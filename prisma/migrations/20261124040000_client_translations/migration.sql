-- AlterTable
ALTER TABLE "Client" ADD COLUMN     "policyUrl" TEXT COLLATE "C",
ADD COLUMN     "termsUrl" TEXT COLLATE "C",
ADD COLUMN     "translations" JSONB NOT NULL DEFAULT '[]';
