-- AlterTable
ALTER TABLE "Tenant" ALTER COLUMN "signInMethods" SET DEFAULT ARRAY['passcode', 'passkey', 'provider']::TEXT[];
