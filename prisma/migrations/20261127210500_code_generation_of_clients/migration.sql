-- Codes of a client are void by a generation instead of a time, which the clocks of two processes have differently.
ALTER TABLE "Client" DROP COLUMN "accessRevokedAt", ADD COLUMN "codeGeneration" INTEGER NOT NULL DEFAULT 0;
