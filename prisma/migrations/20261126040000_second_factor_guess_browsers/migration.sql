-- AlterTable
-- Rows from before count the guesses of browsers that have proven no second factor.
ALTER TABLE "SecondFactorGuess" ADD COLUMN "browser" TEXT COLLATE "C" NOT NULL DEFAULT '',
DROP CONSTRAINT "SecondFactorGuess_pkey",
ADD CONSTRAINT "SecondFactorGuess_pkey" PRIMARY KEY ("tenantId", "userId", "browser");
