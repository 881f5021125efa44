-- CreateIndex
CREATE INDEX "Client_resources_idx" ON "Client"("tenantId") WHERE (cardinality("resources") > 0);

-- CreateIndex
CREATE INDEX "Client_document_idx" ON "Client"("documentFreshUntil") WHERE ("registeredBy" = 'document');

-- CreateIndex
CREATE INDEX "SigningKey_expiresAt_idx" ON "SigningKey"("expiresAt");

-- CreateIndex
CREATE INDEX "SigningKey_last_idx" ON "SigningKey"("activeAt") WHERE ("expiresAt" IS NULL);
