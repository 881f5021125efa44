-- Until when the request_uri of a pushed request leads back to the sign-in that it started.
ALTER TABLE "Interaction" ADD COLUMN "resumableUntil" TIMESTAMPTZ(3);
