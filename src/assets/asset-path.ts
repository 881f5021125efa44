import { createHash } from 'node:crypto'

/** Where an asset is served: named by its content, so that it can be cached for ever. */
export const assetPath = (content: string, extension: 'css' | 'js'): string =>
  `/assets/${createHash('sha256').update(content).digest('hex').slice(0, 16)}.${extension}`
