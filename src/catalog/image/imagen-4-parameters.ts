import { aspectRatio, imageFormat, numImages, prompt, safetyTolerance, seed } from '../parameters.ts'

/** What all models of Imagen 4 take. */
export const imagen4Parameters = {
  prompt: prompt('What the picture shows.'),
  aspect_ratio: aspectRatio(['1:1', '16:9', '9:16', '4:3', '3:4'], '1:1'),
  num_images: numImages(4),
  output_format: imageFormat(['png', 'jpeg', 'webp'], 'png'),
  safety_tolerance: safetyTolerance(6, '4'),
  seed: seed('picture'),
}
