import { createHash } from 'node:crypto'

/** The path of an asset, named by its content so that it can be cached forever. */
export const toAssetPath = (content: string, extension: 'css' | 'js'): string =>
  `/assets/${createHash('sha256').update(content).digest('hex').slice(0, 16)}.${extension}`
