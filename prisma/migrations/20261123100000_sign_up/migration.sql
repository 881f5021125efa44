-- AlterTable
ALTER TABLE "Passcode" ADD COLUMN     "isSignUp" BOOLEAN NOT NULL DEFAULT false;

-- AlterTable
ALTER TABLE "Tenant" ADD COLUMN     "signUp" TEXT COLLATE "C" NOT NULL DEFAULT 'off',
ADD COLUMN     "signUpDomains" TEXT[] DEFAULT ARRAY[]::TEXT[];
