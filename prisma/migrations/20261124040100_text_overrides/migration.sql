-- AlterTable
ALTER TABLE "Tenant" ADD COLUMN     "textOverrides" JSONB NOT NULL DEFAULT '[]';
