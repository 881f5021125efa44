/** Longest lifetime of an API key, in seconds: between an hour and five years. */
export const API_KEY_LIFETIME_SECONDS = { min: 3600, max: 157_680_000, standard: 31_536_000 }
