-- The home page of a client, and the address of its keys.
ALTER TABLE "Client"
  ADD COLUMN "clientUri" TEXT COLLATE "C",
  ADD COLUMN "jwksUri" TEXT COLLATE "C";
