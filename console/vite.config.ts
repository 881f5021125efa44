import { defineConfig } from 'vite'
import relay from 'vite-plugin-relay'

export default defineConfig({
  // The server has the files of all tenants here; their names have a hash of the content.
  base: '/assets/console/',
  plugins: [relay],
  build: {
    outDir: '../dist/console',
    emptyOutDir: true,
    assetsDir: '.',
    manifest: 'manifest.json',
    // An inlined file would need an exception in the Content Security Policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2022',
    rolldownOptions: {
      output: {
        // One file of what the first screen needs compresses better than two. The other packages come when they are needed.
        codeSplitting: { groups: [{ name: 'vendor', test: /node_modules[\\/](?!graphql-ws|dpop)/ }] },
      },
    },
  },
})
