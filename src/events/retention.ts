/** How long events are kept, those of rejected requests excepted. */
export const EVENT_RETENTION_MS = 90 * 86_400_000
