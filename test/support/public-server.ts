import { join } from 'node:path'
import { freePort } from './process.ts'

// For the behavior of a server on the internet. Import this file before all others: src reads the environment
// at its first import. Files that do so have a process of their own.

export const METRICS_TOKEN = 'token-of-the-scraper'
/** Does not exist. */
export const GEOIP_DB = join(process.env.DATA_DIR ?? '', 'places.mmdb')

Object.assign(process.env, {
  BASE_URL: 'https://id.example.com',
  METRICS_TOKEN,
  GEOIP_DB,
  SMTP_URL: `smtp://user:secret@127.0.0.1:${await freePort()}`,
})
