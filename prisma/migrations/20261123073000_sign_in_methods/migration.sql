-- AlterTable
ALTER TABLE "Tenant" ADD COLUMN     "signInMethods" TEXT[] DEFAULT ARRAY['passcode', 'passkey']::TEXT[];
