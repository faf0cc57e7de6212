import { writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { commandsPage } from './commands-page.ts'
import { configurationPage } from './configuration-page.ts'
import { modelsPage } from './models-page.ts'

/** The pages that are made from the code, by their files. */
export const generatedPages: Record<string, () => string | Promise<string>> = {
  'docs/cli.md': commandsPage,
  'docs/configuration.md': configurationPage,
  'docs/models.md': modelsPage,
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [file, make] of Object.entries(generatedPages)) await writeFile(file, await make())
}
