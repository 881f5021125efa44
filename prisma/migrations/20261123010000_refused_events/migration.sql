-- CreateIndex
CREATE INDEX "Event_refused_idx" ON "Event"("occurredAt") WHERE ("type" = 'authorize.refused' OR "type" = 'token.refused');
