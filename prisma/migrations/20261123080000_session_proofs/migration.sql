-- AlterTable
ALTER TABLE "Session" ADD COLUMN     "proofs" JSONB NOT NULL DEFAULT '[]';
