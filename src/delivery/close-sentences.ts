/** Chinese and Japanese have no space after a sentence. */
export const closeSentences = (text: string): string => text.replace(/([。！？]) /g, '$1')
