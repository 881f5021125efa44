/** How long events are kept, those of rejected requests excepted. See docs/decisions/0040. */
export const EVENT_RETENTION_MS = 90 * 86_400_000
